// Signatures by the convention Standard Webhooks: of what we send, and of what gateways send us.
import { Webhook } from 'standardwebhooks';

/** Headers by the convention Standard Webhooks; each live secret signs. */
export function signedHeaders(
  message: { id: string; body: string; at: Temporal.Instant },
  secrets: readonly Buffer[],
): Record<string, string> {
  const time = new Date(Math.floor(message.at.epochMilliseconds / 1_000) * 1_000);
  const signatures = secrets.map((secret) =>
    new Webhook(secret, { format: 'raw' }).sign(message.id, time, message.body),
  );
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(time.getTime() / 1_000),
    'webhook-signature': signatures.join(' '),
  };
}

export type SignedHeaders = Record<string, string>;

/** Whether one of the secrets signed these bytes, less than five minutes ago. */
export function isSigned(
  body: string,
  headers: SignedHeaders,
  secrets: readonly Buffer[],
): boolean {
  return secrets.some((secret) => {
    try {
      new Webhook(secret, { format: 'raw' }).verify(body, headers, { jsonParse: false });
      return true;
    } catch {
      return false;
    }
  });
}
