ephemeral "vault_token" "t" {}
