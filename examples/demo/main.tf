# Three sites of two servers each, with Terraform's built-in provider: nothing is created anywhere.

variable "release" {
  default = "1.0"
}

variable "password" {
  default   = "correct horse"
  sensitive = true
}

resource "terraform_data" "network" {
  input = "10.0.0.0/16"
}

module "site" {
  source   = "./site"
  for_each = toset(["berlin", "lagos", "lima"])

  name     = each.key
  network  = terraform_data.network.output
  release  = each.key == "lima" ? "1.0" : var.release
  password = var.password
}

output "sites" {
  value = [for name, site in module.site : name]
}
