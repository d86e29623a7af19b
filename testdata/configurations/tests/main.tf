terraform {
  required_providers {
    widget = {
      source = "registry.example.test/acme/widget"
      version = "~> 1.0"
    }
  }
}
