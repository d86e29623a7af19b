terraform {
  required_providers {
    widget = {
      source  = "registry.example.test/acme/widget"
      version = "1.0.0"
    }
    zap = {
      source  = "registry.example.test/acme/zap"
      version = "1.0.0"
    }
  }
}

provider "zap" {
  alias   = "old"
  version = "< 3"
}

resource "widget_box" "a" {}

module "m" {
  source = "./one"
}
