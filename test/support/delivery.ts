// Asking for steps of the bill run, and hearing why they are refused.
import type { TestClient } from './client.ts';

export function schedule(termId: number, sheduleTime: string | null = null) {
  return { operation: 'schedule' as const, data: { termID: termId, sheduleTime } };
}

/** The error code of a call, or `success`. */
export function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'success',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}

export async function deliveriesOf(client: TestClient, termID: number) {
  const { data } = await client.getDeliveries({ termID });
  return data.deliveries;
}

export function subjectOf(mail: string): string {
  return /^Subject: (.*(?:\r\n[ \t].*)*)\r$/m.exec(mail)?.[1]?.replace(/\r\n[ \t]/g, ' ') ?? '';
}

/** The document that a mail brings along. */
export function pdfIn(mail: string): Buffer {
  const [, encoded] =
    /Content-Type: application\/pdf[\s\S]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(mail) ?? [];
  return Buffer.from(encoded ?? '', 'base64');
}
