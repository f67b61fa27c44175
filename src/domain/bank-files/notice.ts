// What a payment gateway says of a payment, and how its notices are read. A new gateway is one more
// adapter: it verifies the signature of the bytes that came, and reads them. Pure.
import type { IncomingHttpHeaders } from 'node:http';
import { isSigned } from '../../base/outside/signature.ts';

export type Notice = {
  /** The gateway's own id of the payment: the same however often it notifies. */
  id: string;
  kind: 'Payment' | 'Reversal';
  /** Major units, as decimal text. */
  amount: string;
  currency: string;
  /** What the payer gave: a bill reference, or the number of a subscription or party. */
  reference: string | null;
  payer: string | null;
  text: string | null;
  paidAt: Temporal.Instant | null;
};

export type RawNotice = {
  body: string;
  headers: IncomingHttpHeaders;
  /** One, or two while the secret is changed: any of them may have signed. */
  secrets: readonly Buffer[];
};

/** `Other`: genuine, but not about a payment that was made or taken back. */
export type ReadNotice = Notice | 'Forged' | 'Malformed' | 'Other';

export type Adapter = (raw: RawNotice) => ReadNotice;

const textMax = 500;

/** Notices signed by the convention Standard Webhooks. */
function readStandard({ body, headers, secrets }: RawNotice): ReadNotice {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const sent = Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]));
  if (!isSigned(body, sent, secrets)) return 'Forged';
  const parsed = parsedObject(body);
  if (!parsed) return 'Malformed';
  const kind = kinds.get(String(parsed.type));
  if (!kind) return 'Other';
  const data = (parsed.data ?? {}) as Record<string, unknown>;
  const [id, amount, currency] = [text(data.id), text(data.amount), text(data.currency)];
  if (id === null || amount === null || currency === null) return 'Malformed';
  const paidAt = instant(data.paidAt);
  if (paidAt === undefined) return 'Malformed';
  const told = { reference: text(data.reference), payer: text(data.payer), text: text(data.text) };
  return { id, kind, amount, currency: currency.toUpperCase(), ...told, paidAt };
}

const kinds = new Map<string, Notice['kind']>([
  ['payment.succeeded', 'Payment'],
  ['payment.reversed', 'Reversal'],
]);

function parsedObject(body: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Texts that can be stored; a number as JSON writes it. */
function text(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  const plain = value.replace(/\p{Cc}/gu, ' ').trim();
  return plain === '' ? null : plain.slice(0, textMax);
}

/** Null where it was not sent, undefined where it is wrong. */
function instant(value: unknown): Temporal.Instant | null | undefined {
  if (value === undefined || value === null) return null;
  try {
    return Temporal.Instant.from(String(value));
  } catch {
    return undefined;
  }
}

export const adapterNames = ['standard'] as const;
export type AdapterName = (typeof adapterNames)[number];

const adapters: Record<AdapterName, Adapter> = { standard: readStandard };

export function adapterOf(name: string): Adapter | undefined {
  return Object.hasOwn(adapters, name) ? adapters[name as AdapterName] : undefined;
}
