// A collector of traces: takes what OpenTelemetry sends as protocol buffers, and reads its spans. The
// numbers of the fields are those of the published schema (trace.proto and common.proto).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type CollectedSpan = {
  name: string;
  traceId: string;
  spanId: string;
  parentId: string;
  attributes: Record<string, string | number>;
  failed: boolean;
  service: string;
};

export type Collector = {
  url: string;
  spans: CollectedSpan[];
  close(): Promise<void>;
};

export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/v1/traces') spans.push(...readSpans(Buffer.concat(parts)));
      response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Value = Buffer | bigint;
type Fields = Map<number, Value[]>;

function readSpans(bytes: Buffer): CollectedSpan[] {
  return messages(fieldsOf(bytes), 1).flatMap((resourceSpans) => {
    const [resource] = messages(resourceSpans, 1);
    const service = String(resource ? attributesOf(resource, 1)['service.name'] : '');
    return messages(resourceSpans, 2).flatMap((scope) =>
      messages(scope, 2).map((span) => readSpan(span, service)),
    );
  });
}

function readSpan(span: Fields, service: string): CollectedSpan {
  const [status] = messages(span, 15);
  return {
    name: textOf(span, 5),
    traceId: bytesOf(span, 1).toString('hex'),
    spanId: bytesOf(span, 2).toString('hex'),
    parentId: bytesOf(span, 4).toString('hex'),
    attributes: attributesOf(span, 9),
    failed: status?.get(3)?.[0] === 2n,
    service,
  };
}

function attributesOf(fields: Fields, number: number): Record<string, string | number> {
  return Object.fromEntries(
    messages(fields, number).map((pair) => {
      const [value] = messages(pair, 2);
      const whole = value?.get(3)?.[0];
      const text = value ? textOf(value, 1) : '';
      return [textOf(pair, 1), typeof whole === 'bigint' ? Number(whole) : text];
    }),
  );
}

function messages(fields: Fields, number: number): Fields[] {
  return (fields.get(number) ?? []).filter((value) => typeof value !== 'bigint').map(fieldsOf);
}

function bytesOf(fields: Fields, number: number): Buffer {
  const value = fields.get(number)?.[0];
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function textOf(fields: Fields, number: number): string {
  return bytesOf(fields, number).toString();
}

/** A message as it is on the wire: numbers of fields, each with its values. */
function fieldsOf(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    const value = kind === 0 ? varint() : take(kind === 1 ? 8 : kind === 5 ? 4 : Number(varint()));
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}
