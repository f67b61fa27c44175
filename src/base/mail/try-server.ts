import { createTransport } from 'nodemailer';

const silenceMs = 10_000;

/** Connects and logs in without sending anything; returns what the server refused, if anything. */
export async function tryMailServer(url: string): Promise<string | undefined> {
  const silence = {
    connectionTimeout: silenceMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
  };
  const transport = createTransport({ url, ...silence });
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    transport.close();
  }
}
