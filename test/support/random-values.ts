// Random values for the schemas of requests: what they accept, what they nearly accept, and what
// no client would send. The same seed gives the same values.
import { isOfType, type Json, minimal, type Node } from './requests.ts';

export type Random = {
  /** From 0 up to, but not including, this. */
  below(limit: number): number;
  /** True once in so many times. */
  once(times: number): boolean;
  pick<T>(items: readonly T[]): T;
};

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    once: (times) => below(times) === 0,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
  };
}

/** Ids, numbers and names that earlier answers had, by the name of their field. */
export class Harvest {
  readonly #values = new Map<string, unknown[]>();
  readonly #random: Random;
  readonly #isSecret: (text: string) => boolean;

  constructor(random: Random, isSecret: (text: string) => boolean) {
    this.#random = random;
    this.#isSecret = isSecret;
  }

  /** Takes in what an answer shows, up to so many values. */
  take(data: unknown, name = '', left = { values: 400 }): void {
    if (left.values <= 0) return;
    if (Array.isArray(data)) for (const item of data.slice(0, 30)) this.take(item, name, left);
    else if (typeof data === 'object' && data !== null) {
      for (const [key, value] of Object.entries(data)) this.take(value, key, left);
    } else if (data !== null && typeof data !== 'boolean') {
      left.values -= 1;
      this.#keep(name, data);
    }
  }

  #keep(name: string, value: unknown): void {
    if (typeof value === 'string' && (value.length > 100 || this.#isSecret(value))) return;
    const key = folded(name);
    const kept = this.#values.get(key) ?? [];
    if (kept.length < 60) kept.push(value);
    else kept[this.#random.below(kept.length)] = value;
    this.#values.set(key, kept);
  }

  /** One that fits the field; undefined where none was seen. */
  for(name: string): unknown {
    const kept = this.#values.get(folded(name));
    return kept && this.#random.pick(kept);
  }
}

/** `toPartyNumber`, `partyNumber`; `billIDs`, `billID`: what names the same thing. */
function folded(name: string): string {
  const plain = name.replace(/^(to|old|new|from|against)(?=[A-Z])/, '').replace(/s$/, '');
  return plain.toLowerCase().replace(/^meternumber$/, 'number');
}

const texts = ['a', 'Asma Khan', 'House 12-B', 'x'.repeat(64), 'ünïcödé', '0', '12.5', 'DEFAULT'];
const nastyTexts = [
  '',
  ' ',
  'a\0b',
  'half \ud800 a pair',
  "'; drop table parties; --",
  '%_\\',
  '\u202e\u0301\ufeff',
  '{{name}}',
  '=1+1',
  '__proto__',
  '1e400',
  '-0',
  'NaN',
  '٣',
  '9'.repeat(400),
  '\u0301'.repeat(3_000),
  '👨‍👩‍👧'.repeat(500),
  '../../etc/passwd',
  '31/02/2027',
  '01/01/0001',
  '31/12/9999',
  'x'.repeat(20_000),
];
const nastyNumbers = [-1, 0, -0, 0.1, 1e-9, 32_768, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e21, 1e300];
const nastyValues = [null, true, [], {}, [[]], [null], { a: { b: [1] } }, '7', 7];

/** A step that is scheduled for then can be cancelled meanwhile. */
const later = Temporal.Now.plainDateTimeISO().add({ days: 3 }).toString().slice(0, 19);

export class Values {
  readonly #random: Random;
  readonly #harvest: Harvest;

  constructor(random: Random, harvest: Harvest) {
    this.#random = random;
    this.#harvest = harvest;
  }

  /** What the schema accepts, with ids of things that are there. */
  valid(node: Node, name = ''): unknown {
    const random = this.#random;
    if (isOfType(node, 'null') && random.once(6)) return null;
    if (node.enum) return random.pick(node.enum);
    if (node.anyOf) return this.valid(random.pick(node.anyOf), name);
    if (node.properties) return this.#object(node);
    if (node.items) return this.#array(node, node.items, name);
    const known = random.once(8) ? undefined : this.#harvest.for(name);
    if (isOfType(node, 'string')) return this.#text(node, known);
    if (isOfType(node, 'integer') || isOfType(node, 'number')) return this.#number(node, known);
    if (isOfType(node, 'boolean')) return random.once(2);
    if (isOfType(node, 'object')) return random.once(2) ? {} : { text: random.pick(texts) };
    return minimal(node);
  }

  #object(node: Node): Json {
    const required = new Set(node.required ?? []);
    const often = this.#random.below(4) + 1;
    const entries = Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
      const isSent = required.has(name) || this.#random.below(4) < often - 1;
      return isSent ? [[name, this.valid(child, name)] as const] : [];
    });
    return Object.fromEntries(entries);
  }

  #array(node: Node, items: Node, name: string): unknown[] {
    const least = node.minItems ?? 0;
    const most = Math.min(node.maxItems ?? 3, 3);
    const length = Math.max(least, this.#random.below(most + 1));
    return Array.from({ length }, () => this.valid(items, name));
  }

  #text(node: Node, known: unknown): string {
    const random = this.#random;
    if (node.format?.startsWith('date')) return this.#date(node.format === 'date-compact');
    if (known !== undefined && node.format === undefined) return String(known);
    if (node.format === 'schedule-time' && random.once(3)) return later;
    if (node.format !== undefined) return String(minimal(node));
    const text = random.once(12) ? random.pick(nastyTexts) : random.pick(texts);
    return text.padEnd(node.minLength ?? 0, '.').slice(0, node.maxLength ?? 4_000);
  }

  #date(isCompact: boolean): string {
    const random = this.#random;
    const years = random.once(10) ? [1, 1900, 2000, 2099, 9999] : [2024, 2025, 2026, 2026, 2027];
    const parts = [random.below(28) + 1, random.below(12) + 1].map((n) =>
      String(n).padStart(2, '0'),
    );
    const year = String(random.pick(years)).padStart(4, '0');
    return [...parts, year].join(isCompact ? '' : '/');
  }

  #number(node: Node, known: unknown): number {
    const random = this.#random;
    if (typeof known === 'number') return known;
    if (/^\d{1,15}$/.test(String(known))) return Number(known);
    const least = node.minimum ?? 0;
    if (random.once(10)) return node.maximum ?? 1e9;
    return Math.min(least + random.below(20), node.maximum ?? Number.MAX_SAFE_INTEGER);
  }

  /** The value with one or two mistakes somewhere in it. */
  spoiled(value: unknown): unknown {
    const mistakes = this.#random.below(2) + 1;
    let made = value;
    for (let i = 0; i < mistakes; i += 1) made = this.#spoil(made);
    return made;
  }

  #spoil(value: unknown): unknown {
    const random = this.#random;
    const isHere = random.once(5);
    if (Array.isArray(value)) {
      if (isHere || value.length === 0) return random.once(3) ? [...value, ...value] : this.odd();
      const at = random.below(value.length);
      return value.map((item, index) => (index === at ? this.#spoil(item) : item));
    }
    if (typeof value === 'object' && value !== null) {
      const fields = value as Json;
      const names = Object.keys(fields);
      if (names.length === 0 || isHere) return { ...fields, [random.pick(nastyTexts)]: 1 };
      const name = random.pick(names);
      const { [name]: found, ...others } = fields;
      return random.once(6) ? others : { ...others, [name]: this.#spoil(found) };
    }
    return this.odd();
  }

  odd(): unknown {
    const random = this.#random;
    if (random.once(3)) return random.pick(nastyValues);
    return random.once(2) ? random.pick(nastyNumbers) : random.pick(nastyTexts);
  }
}
