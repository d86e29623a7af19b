terraform {
  required_providers {
    gadget = {
      source = "registry.example.test/acme/gadget"
    }
  }
}

module "child" {
  source = "./child"
}
