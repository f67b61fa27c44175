// An authority of certificates, as an organisation runs one for its own servers, made with the
// crypto of Node.js. A certificate is DER: pieces of a tag, a length and a content.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export type Certified = { key: string; cert: string };
export type Authority = { cert: string; issue(names: readonly string[]): Certified };

export function openAuthority(name: string): Authority {
  const own = newKeys();
  const cert = certificate(own.publicKey, own.privateKey, { issuer: name, subject: name });
  return {
    cert,
    issue(names) {
      const { publicKey, privateKey } = newKeys();
      const [subject = ''] = names;
      return {
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        cert: certificate(publicKey, own.privateKey, { issuer: name, subject, names }),
      };
    },
  };
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

type Content = Buffer | readonly Buffer[];

function piece(tag: number, content: Content): Buffer {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.concat(content);
  const size = bytes.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), bytes]);
}

const sequence = (content: Content) => piece(0x30, content);
const octets = (content: Buffer) => piece(0x04, content);
const bits = (content: Buffer) => piece(0x03, [Buffer.from([0]), content]);
const identifier = (hex: string) => piece(0x06, Buffer.from(hex, 'hex'));
const isTrue = piece(0x01, Buffer.from([0xff]));

/** ECDSA with SHA-256, and the extensions and the part of a name that are used here. */
const known = {
  algorithm: sequence(identifier('2a8648ce3d040302')),
  commonName: identifier('550403'),
  alternativeNames: identifier('551d11'),
  basicConstraints: identifier('551d13'),
};

function nameOf(text: string): Buffer {
  return sequence(piece(0x31, sequence([known.commonName, piece(0x0c, Buffer.from(text))])));
}

function time(year: number): Buffer {
  return piece(0x18, Buffer.from(`${year}0101000000Z`));
}

type Wanted = { issuer: string; subject: string; names?: readonly string[] };

/** Without names it is the certificate of an authority. */
function certificate(publicKey: KeyObject, signer: KeyObject, wanted: Wanted): string {
  const { issuer, subject, names } = wanted;
  const extension = names
    ? [known.alternativeNames, octets(sequence(names.map(alternativeName)))]
    : [known.basicConstraints, isTrue, octets(sequence(isTrue))];
  const content = sequence([
    piece(0xa0, piece(0x02, Buffer.from([2]))),
    piece(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    known.algorithm,
    nameOf(issuer),
    sequence([time(2020), time(2099)]),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    piece(0xa3, sequence(sequence(extension))),
  ]);
  const signature = sign('sha256', content, signer);
  const all = sequence([content, known.algorithm, bits(signature)]);
  const lines = all.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function alternativeName(name: string): Buffer {
  if (isIPv4(name)) return piece(0x87, Buffer.from(name.split('.').map(Number)));
  return piece(0x82, Buffer.from(name));
}
