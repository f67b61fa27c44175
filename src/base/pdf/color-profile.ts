// The colours of sRGB as an ICC profile (version 4), by the figures of IEC 61966-2-1. PDF/A wants a
// file to say what its colours mean.

/** Of the profile itself; a part of it, so it never changes. */
const madeOn = [2026, 1, 1, 0, 0, 0];

/** Adapted to D50, in fractions of one. */
const white = [0.9642, 1, 0.8249];
const red = [0.43607, 0.22249, 0.01392];
const green = [0.38515, 0.71687, 0.09708];
const blue = [0.14307, 0.06061, 0.7141];
/** From the white of sRGB (D65) to D50. */
const adaptation = [
  1.04788, 0.02292, -0.05022, 0.02959, 0.99048, -0.01706, -0.00925, 0.01508, 0.75168,
];
/** Exponent, scale and offset of the curve, slope of its beginning, and where that ends. */
const curve = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045];
const powerWithOffset = 3;

const headerBytes = 128;

export function sRgbProfile(): Buffer {
  const tone = tag('para', Buffer.from([0, powerWithOffset, 0, 0]), fixed(curve));
  const tags: [string, Buffer][] = [
    ['desc', textTag('sRGB')],
    ['cprt', textTag('No copyright, use freely')],
    ['wtpt', tag('XYZ ', fixed(white))],
    ['chad', tag('sf32', fixed(adaptation))],
    ['rXYZ', tag('XYZ ', fixed(red))],
    ['gXYZ', tag('XYZ ', fixed(green))],
    ['bXYZ', tag('XYZ ', fixed(blue))],
    ['rTRC', tone],
    ['gTRC', tone],
    ['bTRC', tone],
  ];
  const table = Buffer.alloc(4 + tags.length * 12);
  table.writeUInt32BE(tags.length, 0);
  const places = new Map<Buffer, number>();
  const data: Buffer[] = [];
  let at = headerBytes + table.length;
  tags.forEach(([name, bytes], index) => {
    // Equal curves are written once.
    const place = places.get(bytes) ?? at;
    if (place === at) {
      data.push(bytes);
      places.set(bytes, at);
      at += bytes.length;
    }
    table.write(name, 4 + index * 12, 'latin1');
    table.writeUInt32BE(place, 8 + index * 12);
    table.writeUInt32BE(bytes.length, 12 + index * 12);
  });
  return Buffer.concat([header(at), table, ...data]);
}

/** Of a screen, in RGB, connected by XYZ. */
function header(size: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.writeUInt32BE(size, 0);
  bytes.writeUInt32BE(0x04200000, 8);
  bytes.write('mntrRGB XYZ ', 12, 'latin1');
  madeOn.forEach((part, index) => {
    bytes.writeUInt16BE(part, 24 + index * 2);
  });
  bytes.write('acsp', 36, 'latin1');
  fixed(white).copy(bytes, 68);
  return bytes;
}

/** Padded, because the next begins at a multiple of four. */
function tag(type: string, ...parts: Buffer[]): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${type}\0\0\0\0`, 'latin1'), ...parts]);
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}

/** One text, in English of the United States. */
function textTag(text: string): Buffer {
  const letters = Buffer.from(text, 'utf16le').swap16();
  const record = Buffer.alloc(20);
  record.writeUInt32BE(1, 0);
  record.writeUInt32BE(12, 4);
  record.write('enUS', 8, 'latin1');
  record.writeUInt32BE(letters.length, 12);
  record.writeUInt32BE(28, 16);
  return tag('mluc', record, letters);
}

/** Numbers with sixteen bits before the point and sixteen behind it. */
function fixed(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeInt32BE(Math.floor(value * 65_536 + 0.5), index * 4);
  });
  return bytes;
}
