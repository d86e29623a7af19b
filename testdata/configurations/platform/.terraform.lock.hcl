# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.example.test/acme/cloud" {
  version     = "2.1.7"
  constraints = ">= 2.0.0, ~> 2.1, >= 2.1.3, < 3.0.0"
  hashes = [
    "h1:g3mbL1bOhvHycf+/WVvL5dj68A6fOPdElWBjE7h58gg=",
    "zh:83799b2f56ce86f1f271ffbf595bcbe5d8faf00e9f38f74495606313b879f208",
  ]
}

provider "registry.example.test/acme/random" {
  version     = "3.6.2"
  constraints = "~> 3.6"
  hashes = [
    "h1:AUqKQgR2ki74CYFFgLK5vbkardm3fXnJ11PCXhhYeJY=",
    "zh:014a8a420476922ef809814580b2b9bdb91aadd9b77d79c9d753c25e18587896",
  ]
}

provider "registry.example.test/acme/widget" {
  version     = "1.0.0"
  constraints = ">= 1.0.0, < 2.0.0"
  hashes = [
    "h1:oDH0MQfyhs226Du8JzotbHjYFfEUcXTpm4WS9RrmyNs=",
    "h1:x3DPoODo8I3ZGdD3lk2/9Wog6OyiW25TFurlXleTZQE=",
    "zh:4d7203913b034020475a4a9ab5970741d7c5ff1f7a8f22ab7a4bbcf8942518d8",
    "zh:d50fe9c9d5ce6008c8760cdf3da3f8d12eee5040578b78ad505c49bf8839375c",
  ]
}

provider "registry.example.test/security/vault" {
  version     = "0.9.5"
  constraints = "~> 0.9.2"
  hashes = [
    "h1:6EE58y/swXcZJ4RnJ1tRpVCcPgn8oU0uRCnZ/ziBW90=",
    "zh:e84139f32fecc17719278467275b51a5509c3e09fca14d2e4429d9ff38815bdd",
  ]
}
