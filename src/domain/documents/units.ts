// Units as people write them. Meters and inputs are set up with what a keyboard has.
import { lineText } from './plain-text.ts';
import type { Wording } from './wording.ts';

const written: ReadonlyMap<string, string> = new Map([
  ['m2', 'm²'],
  ['sqm', 'm²'],
  ['m3', 'm³'],
  ['cbm', 'm³'],
  ['cum', 'm³'],
  ['ft2', 'ft²'],
  ['ft3', 'ft³'],
  ['hm3', 'hm³'],
  ['km2', 'km²'],
  ...['Wh', 'kWh', 'MWh', 'GWh', 'kW', 'MW', 'kVA', 'MVA', 'kVAh', 'kvar', 'kvarh', 'Mvarh'].map(
    (unit): [string, string] => [unit.toLowerCase(), unit],
  ),
  ...['kB', 'MB', 'GB', 'TB', 'KiB', 'MiB', 'GiB', 'TiB', 'Mbit/s', 'Gbit/s'].map(
    (unit): [string, string] => [unit.toLowerCase(), unit],
  ),
  ['mbps', 'Mbit/s'],
  ['gbps', 'Gbit/s'],
  ['mmbtu', 'MMBtu'],
]);

/** `m3` -> `m³`, `kwh` -> `kWh`; a unit that is not known stays as it is. */
export function unitText(unit: unknown): string {
  const plain = lineText(unit);
  return written.get(plain.toLowerCase().replace(/[ ^.]/g, '')) ?? plain;
}

export function measureText(quantity: string, unit: string | null, { formats }: Wording): string {
  return `${formats.quantity(quantity)} ${unitText(unit)}`.trim();
}
