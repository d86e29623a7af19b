module "m" {
  source = "./m"
}

import {
  to = module.m.random_id.kept
  id = "abc"
}
