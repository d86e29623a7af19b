terraform {
  required_providers {
    widget = {
      source = "registry.example.test/other/widget"
    }
    fresh = "~> 4.0"
  }
}

provider "zap" {
  alias   = "old"
  version = "< 2"
}

resource "widget_box" "a" {
  provider = zap.old
}

module "m" {
  source = "./two"
}
