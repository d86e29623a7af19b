import {
  to = cloud_bucket.backup
  id = "platform-backup"
}

check "name" {
  data "widget_record" "entry" {
    name = module.app.name
  }

  assert {
    condition     = data.widget_record.entry.value != ""
    error_message = "the entry point has no address"
  }
}
