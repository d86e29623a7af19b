terraform {
  required_providers {
    cloud = {
      source  = "registry.example.test/acme/cloud"
      version = "~> 2.1"
    }
    widget = {
      source  = "registry.example.test/acme/widget"
      version = ">= 1.0, < 2.0"
    }
    secrets = {
      source = "registry.example.test/security/vault"
    }
  }
}

provider "cloud" {
  region = "north"
}

provider "cloud" {
  alias  = "south"
  region = "south"
}

provider "widget" {
  zone = "example.test"
}

data "secrets_entry" "database" {
  path = "platform/database"
}

module "network" {
  source = "./modules/network"
}

module "app" {
  source   = "./modules/app"
  password = data.secrets_entry.database.value

  providers = {
    cloud         = cloud
    cloud.replica = cloud.south
    zone          = widget
  }
}

module "logs" {
  source = "git::https://git.example.test/modules/logs.git?ref=v1.2.0"
}
