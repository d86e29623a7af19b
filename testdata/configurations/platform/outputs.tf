output "entry_point" {
  value = "https://${provider::dns::punycode(module.app.name)}/"
}
