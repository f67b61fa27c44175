// Pictures for PDF files: JPEG as it is; PNG decoded once and kept, since its transparency has to
// become a picture of its own.
import { deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { keptBlock, type ObjectBlock, type PdfObjects, type Reference } from './objects.ts';

export type PdfImage = {
  readonly width: number;
  readonly height: number;
  embed(firstId: number): ObjectBlock;
};

/** A picture far beyond what paper shows would cost memory for nothing. */
export const imageSideMax = 2_000;

export type ImageProblem = 'format' | 'size';

/** What is wrong with a picture, or undefined. Only its header is looked at. */
export function imageProblem(bytes: Buffer): ImageProblem | undefined {
  const size = pngSize(bytes) ?? jpegHeader(bytes);
  if (size === undefined || size.width === 0 || size.height === 0) return 'format';
  return Math.max(size.width, size.height) > imageSideMax ? 'size' : undefined;
}

/** Undefined if the bytes are not such a picture, or a damaged one. */
export function openImage(bytes: Buffer): PdfImage | undefined {
  if (imageProblem(bytes) !== undefined) return undefined;
  const jpeg = jpegHeader(bytes);
  if (jpeg !== undefined) return jpegImage(bytes, jpeg);
  try {
    return pngImage(PNG.sync.read(bytes));
  } catch {
    return undefined;
  }
}

function pngSize(bytes: Buffer): { width: number; height: number } | undefined {
  const isPng = bytes.length > 24 && bytes.readUInt32BE(0) === 0x89504e47;
  return isPng ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;
}

type JpegHeader = { width: number; height: number; colors: number };

const colorSpaces = new Map([
  [1, 'DeviceGray'],
  [3, 'DeviceRGB'],
]);

/** Size and colours are in the first frame header; everything before it is skipped. */
function jpegHeader(bytes: Buffer): JpegHeader | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 < bytes.length) {
    const marker = bytes.readUInt16BE(at);
    if (marker < 0xff01) return undefined;
    const isFrame = marker >= 0xffc0 && marker <= 0xffc2;
    if (isFrame) {
      const header = {
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
        colors: bytes[at + 9] as number,
      };
      return colorSpaces.has(header.colors) ? header : undefined;
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function jpegImage(bytes: Buffer, { width, height, colors }: JpegHeader): PdfImage {
  const write = (objects: PdfObjects) => {
    const image = objects.ref({
      ...pictureData(width, height),
      ColorSpace: colorSpaces.get(colors),
      Filter: 'DCTDecode',
    });
    image.end(bytes);
    return image;
  };
  return embeddable({ width, height }, write);
}

function pngImage({ width, height, data }: PNG): PdfImage {
  const pixels = width * height;
  const colors = Buffer.alloc(pixels * 3);
  const alpha = Buffer.alloc(pixels);
  let isOpaque = true;
  for (let pixel = 0; pixel < pixels; pixel++) {
    data.copy(colors, pixel * 3, pixel * 4, pixel * 4 + 3);
    alpha[pixel] = data[pixel * 4 + 3] as number;
    if (alpha[pixel] !== 255) isOpaque = false;
  }
  const colorBytes = deflateSync(colors);
  const alphaBytes = isOpaque ? undefined : deflateSync(alpha);
  const part = (objects: PdfObjects, space: string, bytes: Buffer, more: object): Reference => {
    const image = objects.ref({
      ...pictureData(width, height),
      ...more,
      ColorSpace: space,
      Filter: 'FlateDecode',
    });
    image.end(bytes);
    return image;
  };
  return embeddable({ width, height }, (objects) => {
    const mask = alphaBytes && part(objects, 'DeviceGray', alphaBytes, {});
    return part(objects, 'DeviceRGB', colorBytes, mask ? { SMask: mask } : {});
  });
}

function embeddable(
  size: { width: number; height: number },
  write: (objects: PdfObjects) => Reference,
): PdfImage {
  return { ...size, embed: (firstId) => keptBlock(write, firstId, write) };
}

function pictureData(width: number, height: number) {
  return { Type: 'XObject', Subtype: 'Image', Width: width, Height: height, BitsPerComponent: 8 };
}
