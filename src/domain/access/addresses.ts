import { BlockList, isIP } from 'node:net';

/**
 * Whether a machine client may call from the address. The list holds addresses and ranges such as
 * 10.0.0.0/8, checked when they were saved; an empty one allows all.
 */
export function isAllowed(address: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  const list = new BlockList();
  for (const item of allowed) {
    const [base = '', bits] = item.split('/');
    const family = isIP(base) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(base) === 0) continue;
    if (bits === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(bits), family);
  }
  return isAmong(list, address);
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether a caller is on the machine of the server itself. */
export function isLoopback(address: string): boolean {
  return isAmong(loopback, address);
}

function isAmong(list: BlockList, address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}
