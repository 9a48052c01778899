#!/bin/sh
# Installs the free fonts that synthetic training pages are printed in (Debian packages; needs root) and links their
# files into .train/fonts/, the folder the sampler is pointed at. Tests need none of them.
set -eu
cd "$(dirname "$0")/.."
apt-get install -y --no-install-recommends \
  fontconfig fonts-dejavu fonts-liberation fonts-lato fonts-open-sans fonts-roboto fonts-linuxlibertine fonts-texgyre \
  fonts-noto-core fonts-crosextra-carlito fonts-crosextra-caladea fonts-ebgaramond fonts-cantarell fonts-inconsolata \
  fonts-urw-base35 fonts-lmodern fonts-cmu fonts-stix fonts-junicode fonts-comic-neue fonts-hack fonts-firacode \
  fonts-anonymous-pro fonts-croscore fonts-jetbrains-mono fonts-gfs-didot fonts-cabin fonts-quattrocento \
  fonts-oldstandard fonts-freefont-otf fonts-noto-mono fonts-courier-prime fonts-vollkorn fonts-league-spartan \
  fonts-sil-charis fonts-sil-gentium-basic fonts-gnutypewriter fonts-mononoki fonts-go fonts-inter fonts-b612 \
  fonts-essays1743 fonts-fanwood fonts-century-catalogue fonts-prociono fonts-goudybookletter fonts-paratype fonts-ocr-b
mkdir -p .train/fonts
find /usr/share/fonts \( -name '*.ttf' -o -name '*.otf' -o -name '*.TTF' \) -print | while read -r file; do
  case "$file" in
  */noto/NotoSans-* | */noto/NotoSerif-* | */noto/NotoMono*) ;; # Latin only: the other scripts are hundreds of files
  */noto/*) continue ;;
  esac
  ln -sf "$file" ".train/fonts/$(basename "$file")"
done
ls .train/fonts | wc -l
