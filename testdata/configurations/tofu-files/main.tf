# Not read where main.tofu is.
terraform {
  required_providers {
    widget = {
      source  = "registry.example.test/other/widget"
      version = "9.0.0"
    }
  }
}
