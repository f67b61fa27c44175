// Which network addresses the program may call. Users choose the target by entering a URL, so the
// addresses of this machine and of private networks are refused unless the operator allows them.
import { BlockList, isIPv4, isIPv6 } from 'node:net';

const refused4 = new BlockList();
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  // Shared by customers of one provider (carrier-grade NAT).
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local: the metadata of cloud machines is at 169.254.169.254.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  refused4.addSubnet(address, bits, 'ipv4');
}

const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/** Inside 2000::/3, but not on the internet, or another way to write an IPv4 address. */
const refused6 = new BlockList();
for (const [address, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  refused6.addSubnet(address, bits, 'ipv6');
}

/** True if every computer on the internet reaches the same machine by this address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refused4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  // Everything else in IPv6 is local, reserved, or an IPv4 address in disguise.
  return global6.check(address, 'ipv6') && !refused6.check(address, 'ipv6');
}

/** Addresses and ranges such as `10.0.0.0/8`, which were checked when they were read. */
export function rangesOf(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = '', bits] = text.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, bitsOf(bits), family);
  }
  return list;
}

/** `8`, or a mask such as `255.0.0.0`. */
function bitsOf(mask: string): number {
  if (!isIPv4(mask)) return Number(mask);
  const ones = mask.split('.').map((part) => Number(part).toString(2).replaceAll('0', ''));
  return ones.join('').length;
}

export function isInRanges(address: string, ranges: BlockList): boolean {
  const plain = mappedForm.exec(address)?.[1] ?? address;
  if (isIPv4(plain)) return ranges.check(plain, 'ipv4');
  return isIPv6(plain) && !plain.includes('%') && ranges.check(plain, 'ipv6');
}

/** An IPv4 address as IPv6 shows it. */
const mappedForm = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
