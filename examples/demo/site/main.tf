variable "name" {}
variable "network" {}
variable "release" {}
variable "password" {
  sensitive = true
}

resource "terraform_data" "database" {
  input            = var.password
  triggers_replace = var.network
}

resource "terraform_data" "server" {
  count      = 2
  input      = { name = "${var.name}-${count.index}", release = var.release }
  depends_on = [terraform_data.database]
}
