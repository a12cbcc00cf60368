"""Writes cli/font_table.cpp: printable ASCII of DejaVu Sans Mono (free licence of Bitstream Vera), 4-bit coverage.

Usage: make_font_table.py DejaVuSansMono.ttf > cli/font_table.cpp      (needs Pillow)
"""
import sys

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, SIZE = 7, 15, 12


def glyph(font, code):
    image = Image.new("L", (WIDTH, HEIGHT), 0)
    ImageDraw.Draw(image).text((0, 0), chr(code), font=font, fill=255)
    rows = ["".join("0123456789abcdef"[image.getpixel((x, y)) >> 4] for x in range(WIDTH)) for y in range(HEIGHT)]
    return "".join(rows)


def main():
    font = ImageFont.truetype(sys.argv[1], SIZE)
    print('// Made by tools/make_font_table.py from DejaVu Sans Mono, 12 px; (c) Bitstream and the DejaVu team, free licence.')
    print('#include "cli/font_table.hpp"\n\nnamespace headrace::cli {\n\nconst char* const kGlyphs[kGlyphCount] = {')
    for code in range(32, 127):
        text = glyph(font, code)
        half = (HEIGHT // 2) * WIDTH
        print(f'    "{text[:half]}"\n    "{text[half:]}",')
    print("};\n\n}  // namespace headrace::cli")


main()
