# The team that runs the platform pins the security provider.
terraform {
  required_providers {
    secrets = {
      source  = "registry.example.test/security/vault"
      version = "~> 0.9.2"
    }
  }
}
