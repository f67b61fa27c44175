// billwright listen: prints the events of a workspace as they come, and forwards them to a program
// on the developer's machine. It asks the API like any client, so it needs no public address.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createClient } from '../../../sdk/client.ts';
import { systemClock } from '../../base/clock.ts';
import { counted } from '../../base/counted.ts';
import { fetchLocally } from '../../base/fetch-locally.ts';
import type { Config } from '../../config.ts';
import { type EventType, eventTypes } from '../../domain/events/events-store.ts';
import { secretBytes } from '../../domain/events/messages.ts';
import { findRunningPort } from '../server-address.ts';
import { listenUsage, refuseMore, UsageError } from '../usage.ts';
import { forward } from './forward.ts';
import { messagesOf } from './messages.ts';
import { eventsAfter, type Listening, newestEvent } from './source.ts';

export async function listenCommand(config: Config, args: readonly string[]): Promise<void> {
  const wanted = wantedFrom(args, config);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopped.abort());
  }
  const baseUrl = wanted.url ?? (await addressOf(config, wanted.workspace));
  const billing = createClient({ baseUrl, fetch: fetchLocally });
  const logIn = async () => {
    const { data } = await billing.login(wanted.login, { token: null });
    billing.useToken(data.accessToken);
  };
  await logIn();
  const warn = (sentence: string) => process.stderr.write(`${sentence}\n`);
  const listening = { billing, logIn, signal: stopped.signal, warn };
  // What happens from now on is shown: the first event is settled before anything is printed.
  const since = wanted.since ?? (await newestEvent(listening));
  print(`Listening to events of ${wanted.workspace} at ${baseUrl}. Ctrl-C ends it.`);
  if (wanted.forwardTo) {
    print(`Forwarding to ${wanted.forwardTo}`);
    print(`Secret: ${wanted.secret}`);
  }
  const { events, delivered } = await listen(listening, { ...wanted, since });
  const forwarded = wanted.forwardTo ? `, ${counted(delivered, 'message')} delivered` : '';
  print(`Ended: ${counted(events, 'event')}${forwarded}.`);
  await billing.logout().catch(() => {});
}

type Wanted = {
  workspace: string;
  url: string | undefined;
  login: { username: string; password: string } | { clientID: string; clientSecret: string };
  types: readonly EventType[];
  since: number | undefined;
  forwardTo: string | undefined;
  secret: string;
  key: Buffer;
};

async function listen(
  listening: Listening,
  wanted: Wanted,
): Promise<{ events: number; delivered: number }> {
  const { billing, signal } = listening;
  const { workspace, types, forwardTo: url, key, since } = wanted;
  const counts = { events: 0, sequence: 0, delivered: 0 };
  for await (const event of eventsAfter(since, listening)) {
    if (signal.aborted) break;
    if (types.length > 0 && !types.includes(event.type as EventType)) continue;
    counts.events += 1;
    print(`${event.timestamp}  ${event.type}  event ${event.eventID}  ${idsOf(event.data)}`);
    if (url === undefined) continue;
    for await (const message of messagesOf(billing, workspace, event, counts.sequence)) {
      counts.sequence += 1;
      const isDelivered = await forward(
        { url, secret: key, clock: systemClock, signal, print },
        message,
      );
      if (isDelivered) counts.delivered += 1;
      if (signal.aborted) break;
    }
  }
  return counts;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Ids in a line; of many, how many there are. */
function idsOf(data: object | undefined): string {
  return Object.entries(data ?? {})
    .map(([name, value]) => (Array.isArray(value) ? `${value.length} ${name}` : `${name} ${value}`))
    .join(', ');
}

async function addressOf(config: Config, workspace: string): Promise<string> {
  const port = (await findRunningPort(config)) ?? config.port;
  return `http://${workspace}.${config.domain}:${port}`;
}

function wantedFrom(args: readonly string[], config: Config): Wanted {
  const { values, positionals } = parse(args);
  refuseMore(positionals, 0, listenUsage);
  const refuse = (sentence: string) => new UsageError(`${sentence}\n\n${listenUsage}`);
  const { workspace, user, client, url, forward: forwardTo } = values;
  const password = values.password ?? config.listenPassword;
  if (!workspace) throw refuse('--workspace is needed.');
  if ((user === undefined) === (client === undefined)) throw refuse('Give --user or --client.');
  if (!password) throw refuse('--password is needed, or BILLWRIGHT_PASSWORD.');
  for (const [name, text] of Object.entries({ '--url': url, '--forward': forwardTo })) {
    if (text !== undefined && !isWebAddress(text)) throw refuse(`${name} '${text}' is not a URL.`);
  }
  const types = (values.types ?? '').split(',').filter((type) => type !== '');
  const unknown = types.find((type) => !(eventTypes as readonly string[]).includes(type));
  if (unknown !== undefined) throw refuse(`There is no type of event '${unknown}'.`);
  const since = values.since === undefined ? undefined : Number(values.since);
  if (since !== undefined && !(Number.isSafeInteger(since) && since > 0)) {
    throw refuse('--since is the id of an event.');
  }
  const secret = values.secret ?? `whsec_${randomBytes(32).toString('base64')}`;
  const key = secretBytes(secret);
  if (!key || key.length < 24)
    throw refuse('--secret has at least 24 bytes, in base64 after whsec_.');
  const login =
    user !== undefined
      ? { username: user, password }
      : { clientID: client ?? '', clientSecret: password };
  return { workspace, url, login, types: types as EventType[], since, forwardTo, secret, key };
}

function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = {
    ...{ workspace: text, user: text, client: text, password: text, url: text },
    ...{ forward: text, secret: text, types: text, since: text },
  };
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${listenUsage}`);
  }
}
