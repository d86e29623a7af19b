terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.40"
    }
  }
}

variable "arn" {
  type = string
}

output "account" {
  value = "account ${provider::aws::arn_parse(var.arn).account_id}"
}

output "here" {
  value = [for arn in [var.arn] : upper(provider::aws::us::arn_parse(arn).region)]
}
