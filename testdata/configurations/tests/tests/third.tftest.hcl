provider "shadowed" {}
