terraform {
  required_providers {
    cloud = {
      source  = "registry.example.test/acme/cloud"
      version = "< 3.0"
    }
  }
}

resource "cloud_log" "all" {}
