provider "widget" {}

provider "local" {
  alias = "files"
}

mock_provider "mocked" {}

run "setup" {
  module {
    source = "./setup"
  }
}

run "plan" {
  command = plan
}
