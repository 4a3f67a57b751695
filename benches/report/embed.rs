//! The pictures, for rustdoc, whose pages cannot link to files of the repository. So the pictures are link definitions with the
//! pictures in them, which the documentation includes before a text that refers to them: the first definition wins.

use std::error::Error;
use std::fs;
use std::path::Path;

/// Writes the definitions of all pictures below a folder.
pub(crate) fn embed(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut definitions =
        String::from("[comment]: # (Written by the report: the pictures, for rustdoc.)\n");
    let files = fs::read_dir(folder.join("pictures"))?;
    let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let data = base64(&fs::read(&file)?);
        definitions += &format!("[picture-{name}]: data:image/svg+xml;base64,{data}\n");
    }
    // A paragraph of another text must not follow at once.
    definitions.push('\n');
    Ok(fs::write(folder.join("PICTURES.md"), definitions)?)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| {
            bits << 8 | u32::from(three.get(at).copied().unwrap_or_default())
        });
        for digit in 0..4 {
            text.push(match digit <= three.len() {
                true => DIGITS[(bits >> (18 - 6 * digit)) as usize % 64] as char,
                false => '=',
            });
        }
    }
    text
}
