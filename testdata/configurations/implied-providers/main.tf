# Nothing is declared: every provider is implied.
resource "aws_instance" "a" {}

data "http" "page" {
  url = "https://example.test"
}

data "terraform_remote_state" "network" {
  backend = "local"
}

resource "google_project" "b" {
  provider = beta
}

import {
  to = random_id.kept
  id = "abc"
}

import {
  to       = azurerm_thing.kept["x"]
  id       = "abc"
  provider = azure.west
}

check "page" {
  data "dns_a_record_set" "example" {
    host = "example.test"
  }

  assert {
    condition     = data.dns_a_record_set.example.addrs != []
    error_message = "no address"
  }
}

# Neither of these needs a provider.
moved {
  from = null_resource.old
  to   = null_resource.new
}

removed {
  from = tls_private_key.gone
  lifecycle {
    destroy = false
  }
}
