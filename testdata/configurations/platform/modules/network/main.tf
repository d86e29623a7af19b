terraform {
  required_providers {
    cloud = {
      source  = "registry.example.test/acme/cloud"
      version = ">= 2.0"
    }
  }
}

resource "cloud_network" "main" {
  range = "10.0.0.0/16"
}
