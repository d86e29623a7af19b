terraform {
  required_providers {
    cloud = {
      source                = "registry.example.test/acme/cloud"
      version               = ">= 2.1.3"
      configuration_aliases = [cloud.replica]
    }
    zone = {
      source = "registry.example.test/acme/widget"
    }
  }
}

variable "password" {
  type      = string
  sensitive = true
}

resource "cloud_machine" "app" {
  count = 2
}

resource "zone_record" "app" {
  name  = "app"
  value = cloud_machine.app[0].address
}

module "database" {
  source   = "./database"
  password = var.password

  providers = {
    cloud = cloud.replica
  }
}

output "name" {
  value = zone_record.app.name
}
