// The URL of a program outside, and the address that it is called at. The name is resolved once for
// each attempt, every address is checked, and the connection goes to the one that was checked: a
// name that changes its address between check and connection wins nothing.
import { lookup, Resolver } from 'node:dns/promises';
import { type BlockList, isIP } from 'node:net';
import { isInRanges, isPublicAddress } from './addresses.ts';

export type OutsideRules = {
  /** Addresses that may be called although they are not public. */
  allowed: BlockList;
  /** Whether an allowed address may be called without TLS. */
  allowsHttp: boolean;
  /** Certificates that are trusted beside those of Node.js, as PEM. */
  ca?: string;
  resolve: Resolve;
};

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<string[]>;

export class TargetRefused extends Error {}

const lengthMax = 2_000;
/** A public target answers at one of these; a database or a mail server does not. */
const publicPorts = ['', '443', '8443'];

/** Reads a URL as it is stored. Throws TargetRefused with the reason. */
export function readTarget(text: string, rules: OutsideRules): URL {
  const url = text.length <= lengthMax ? URL.parse(text) : null;
  if (!url || /[\s\p{Cc}\\]/u.test(text)) throw new TargetRefused('This is not a URL');
  if (url.protocol !== 'https:' && !(rules.allowsHttp && url.protocol === 'http:')) {
    throw new TargetRefused('The URL must begin with https://');
  }
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1] ?? '';
  if (authority.includes('@')) {
    throw new TargetRefused('The URL must not contain a user name or a password');
  }
  if (url.hash !== '') throw new TargetRefused('The URL must not contain a fragment (#)');
  const host = hostOf(url);
  // 2130706433, 0x7f.1 and 017700000001 are the address of this machine too.
  if (isIP(host) === 4 && authority.replace(/:\d*$/, '') !== host) {
    throw new TargetRefused('Write an IPv4 address as four decimal numbers');
  }
  if (isIP(host) !== 0) assertAllowed(url, [host], rules);
  return url;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** The address to connect to. Throws TargetRefused if any address of the name is not allowed. */
export async function resolveTarget(url: URL, rules: OutsideRules): Promise<string> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await rules.resolve(host) : [host];
  const [first] = addresses;
  if (first === undefined) throw new Error(`The name ${host} has no address`);
  assertAllowed(url, addresses, rules);
  return first;
}

function assertAllowed(url: URL, addresses: readonly string[], rules: OutsideRules): void {
  const areAllowed = addresses.every((address) => isInRanges(address, rules.allowed));
  if (areAllowed) return;
  if (url.protocol !== 'https:') throw new TargetRefused('The URL must begin with https://');
  if (!addresses.every((one) => isPublicAddress(one) || isInRanges(one, rules.allowed))) {
    throw new TargetRefused('The address of the URL is not on the public internet');
  }
  if (!publicPorts.includes(url.port)) {
    throw new TargetRefused('The port of the URL must be 443 or 8443');
  }
}

const resolverOptions = { timeout: 4_000, tries: 1 };

/**
 * Names of this machine and of its neighbours are in its own files. All others go to the name
 * server directly: threads of the process do not wait for it.
 */
export async function resolveName(host: string): Promise<string[]> {
  // By RFC 6761 these names are this machine, whatever a name server says.
  if (/(^|\.)localhost$/.test(host)) return ['127.0.0.1'];
  if (!host.includes('.')) return lookUp(host);
  const resolver = new Resolver(resolverOptions);
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (found.length > 0) return found;
  const { reason } = four.status === 'rejected' ? four : { reason: undefined };
  const code = (reason as { code?: string } | undefined)?.code ?? '';
  // The file of hosts may know it.
  if (['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'].includes(code)) return lookUp(host);
  throw reason ?? new Error(`The name ${host} has no address`);
}

async function lookUp(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map((one) => one.address);
}
