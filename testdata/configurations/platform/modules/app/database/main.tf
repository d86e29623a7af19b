terraform {
  required_providers {
    cloud = {
      source = "registry.example.test/acme/cloud"
    }
    random = {
      source  = "registry.example.test/acme/random"
      version = "~> 3.6"
    }
  }
}

variable "password" {
  type      = string
  sensitive = true
}

resource "random_id" "name" {
  length = 4
}

resource "cloud_database" "main" {
  name     = random_id.name.text
  password = var.password
}
