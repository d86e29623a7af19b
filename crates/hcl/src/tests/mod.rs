mod measured;
mod robust;
mod underlined;
