provider "tofu" {}
