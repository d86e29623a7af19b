output "entry_point" {
  value = "https://${provider::widget::punycode(module.app.name)}/"
}
