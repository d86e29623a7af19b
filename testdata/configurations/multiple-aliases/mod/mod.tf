terraform {
  required_providers {
    modaws = {
      source                = "aws"
      version               = ">= 0.1"
      configuration_aliases = [modaws.foo, modaws.bar]
    }
  }
}
