// The only reader of the environment: read once, checked, frozen.
import { readFileSync } from 'node:fs';
import { isIP, isIPv4 } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { isPlainAddress } from './base/mail/address.ts';
import type { DkimOptions } from './base/mail/dkim.ts';
import type { MailSender } from './base/mail/message.ts';
import type { TracingOptions } from './base/open-tracing.ts';
import type { OutsideConfig } from './base/outside/rules.ts';
import { defaultRateLimits, type Rate, type RateLimits } from './http/rate-limit.ts';

export type Config = Readonly<{
  port: number;
  host: string;
  databaseUrl: string | undefined;
  /** A login that owns nothing, for the pool that serves calls; otherwise a role is taken on. */
  apiDatabaseUrl: string | undefined;
  /** A direct connection for workers, where DATABASE_URL goes through a transaction pooler. */
  workerDatabaseUrl: string | undefined;
  dataFolder: string;
  /** Holds the key by which secrets in the database are encrypted. */
  secretKeyFile: string | undefined;
  domain: string;
  workspaceHeader: boolean;
  logLevel: string;
  apiConnections: number;
  workerConnections: number;
  /** Parts of jobs that a worker works on at the same time. */
  workerLanes: number;
  scheduleWaitSeconds: number;
  /** Of the demo workspace that a first start makes. */
  demoSubscriptions: number;
  trustedProxies: readonly string[];
  allowUnsafeDatabase: boolean;
  rateLimits: RateLimits;
  /** Unset: mail goes as files into the outbox of the data folder. */
  smtpUrl: string | undefined;
  smtpConnections: number;
  /** Threads in which a worker renders documents. */
  renderThreads: number;
  mailFrom: MailSender;
  /** The key is read by what sends mails, and stays out of here. */
  dkim: DkimOptions | undefined;
  /** Of the login or client as which `listen` asks the API. */
  listenPassword: string | undefined;
  /** Which programs outside are called. */
  outside: OutsideConfig;
  /** Unset where no collector of traces is named. */
  tracing: TracingOptions | undefined;
  /** By `npm start`, `npm run` or `npx`. */
  isStartedByNpm: boolean;
}>;

type Environment = Record<string, string | undefined>;

export class ConfigError extends Error {}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

export function readConfig(given: Environment): Config {
  const env = withSecretFiles(given);
  const domain = domainName(env, 'BILLWRIGHT_DOMAIN', 'localhost');
  const databaseUrl = url(env, 'DATABASE_URL');
  const mailFrom = sender(env, 'MAIL_FROM', `billing@${domain}`);
  return Object.freeze({
    port: integer(env, 'PORT', 8080, 0, 65_535),
    host: env.HOST || '127.0.0.1',
    databaseUrl,
    apiDatabaseUrl: urlBeside(databaseUrl, env, 'API_DATABASE_URL'),
    workerDatabaseUrl: urlBeside(databaseUrl, env, 'WORKER_DATABASE_URL'),
    dataFolder: resolve(env.BILLWRIGHT_DATA || './data'),
    domain,
    secretKeyFile: env.SECRET_KEY_FILE || undefined,
    workspaceHeader: flag(env, 'BILLWRIGHT_WORKSPACE_HEADER'),
    logLevel: oneOf(env, 'LOG_LEVEL', logLevels, 'info'),
    apiConnections: integer(env, 'API_CONNECTIONS', 16, 1, 1_000),
    workerConnections: integer(env, 'WORKER_CONNECTIONS', 4, 1, 1_000),
    // Some wait for the database while another computes.
    workerLanes: integer(env, 'WORKER_LANES', 4, 1, 64),
    demoSubscriptions: integer(env, 'DEMO_SUBSCRIPTIONS', 540, 0, 1_000_000),
    scheduleWaitSeconds: integer(env, 'SCHEDULE_WAIT_SECONDS', 20, 0, 50),
    trustedProxies: ranges(env, 'TRUSTED_PROXIES', rangeNames),
    allowUnsafeDatabase: flag(env, 'BILLWRIGHT_ALLOW_UNSAFE_DATABASE'),
    rateLimits: {
      token: rate(env, 'RATE_LIMIT_TOKEN', defaultRateLimits.token),
      tenant: rate(env, 'RATE_LIMIT_WORKSPACE', defaultRateLimits.tenant),
      loginName: rate(env, 'RATE_LIMIT_LOGIN_NAME', defaultRateLimits.loginName),
      loginAddress: rate(env, 'RATE_LIMIT_LOGIN_ADDRESS', defaultRateLimits.loginAddress),
      wrongToken: rate(env, 'RATE_LIMIT_WRONG_TOKEN', defaultRateLimits.wrongToken),
    },
    smtpUrl: smtpUrl(env, 'SMTP_URL'),
    smtpConnections: integer(env, 'SMTP_CONNECTIONS', 10, 1, 100),
    renderThreads: integer(env, 'RENDER_THREADS', Math.min(64, availableParallelism()), 1, 64),
    mailFrom,
    dkim: dkim(env, mailFrom.address.split('@')[1] ?? domain),
    listenPassword: env.BILLWRIGHT_PASSWORD || undefined,
    outside: {
      allowedAddresses: ranges(env, 'WEBHOOK_ALLOWED_ADDRESSES', []),
      allowsHttp: flag(env, 'WEBHOOK_ALLOW_HTTP'),
      caFile: env.WEBHOOK_CA_FILE || undefined,
    },
    tracing: tracing(env),
    isStartedByNpm: env.npm_command !== undefined,
  });
}

/** The names are those that OpenTelemetry defines. Its library reads what it needs besides. */
function tracing(env: Environment): TracingOptions | undefined {
  const collector = collectorUrl(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const exact = collectorUrl(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const ratio = portion(env, 'OTEL_TRACES_SAMPLER_ARG', 1);
  const isOff = flag(env, 'OTEL_SDK_DISABLED');
  if (isOff || (collector ?? exact) === undefined) return undefined;
  return { serviceName: env.OTEL_SERVICE_NAME || 'billwright', ratio };
}

function collectorUrl(env: Environment, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new ConfigError(`${name} must be a url such as http://127.0.0.1:4318, not '${text}'`);
}

function portion(env: Environment, name: string, usual: number): number {
  const text = env[name];
  if (text === undefined || text === '') return usual;
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > 1) {
    throw new ConfigError(`${name} must be a number from 0 to 1, not '${text}'`);
  }
  return value;
}

/** Their values have passwords, which containers get as files. */
const secretNames = ['DATABASE_URL', 'API_DATABASE_URL', 'WORKER_DATABASE_URL', 'SMTP_URL'];

/** With the contents of the file that `DATABASE_URL_FILE` names as `DATABASE_URL`, and so on. */
function withSecretFiles(env: Environment): Environment {
  const named = secretNames.filter((name) => env[`${name}_FILE`]);
  return { ...env, ...Object.fromEntries(named.map((name) => [name, secretOf(env, name)])) };
}

function secretOf(env: Environment, name: string): string {
  const file = env[`${name}_FILE`] ?? '';
  if (env[name]) throw new ConfigError(`Set either ${name} or ${name}_FILE, not both`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`${name}_FILE cannot be read: ${(error as Error).message}`);
  }
  if (text === '') throw new ConfigError(`${name}_FILE names ${file}, which is empty`);
  return text;
}

function integer(env: Environment, name: string, usual: number, min: number, max: number): number {
  const text = env[name];
  if (text === undefined || text === '') return usual;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not '${text}'`);
  }
  return value;
}

function flag(env: Environment, name: string): boolean {
  const text = env[name];
  if (text === undefined || text === '' || text === '0' || text === 'false') return false;
  if (text === '1' || text === 'true') return true;
  throw new ConfigError(`${name} must be 1 or 0, not '${text}'`);
}

function oneOf(env: Environment, name: string, words: string[], usual: string): string {
  const text = env[name] || usual;
  if (!words.includes(text)) {
    throw new ConfigError(`${name} must be one of ${words.join(', ')}, not '${text}'`);
  }
  return text;
}

function url(env: Environment, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new ConfigError(`${name} must begin with postgresql://`);
  }
  // The host may be left out where it is the folder of a socket.
  if (!URL.canParse(text.replace('@/', '@localhost/'))) {
    throw new ConfigError(`${name} must be a url such as postgresql://user:password@host/database`);
  }
  return text;
}

/** One more way to the database of DATABASE_URL; the embedded one has its own. */
function urlBeside(
  databaseUrl: string | undefined,
  env: Environment,
  name: string,
): string | undefined {
  const text = url(env, name);
  if (text !== undefined && databaseUrl === undefined) {
    throw new ConfigError(`${name} needs DATABASE_URL, which is not set`);
  }
  return text;
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const domainForm = new RegExp(`^${label}(?:\\.${label})*$`);

function domainName(env: Environment, name: string, usual: string): string {
  const text = env[name] || usual;
  if (!domainForm.test(text.toLowerCase())) {
    throw new ConfigError(`${name} must be a host name such as billing.example.com, not '${text}'`);
  }
  return text.toLowerCase();
}

/** Addresses, and ranges of them. */
function ranges(env: Environment, name: string, names: readonly string[]): string[] {
  const items = (env[name] ?? '').split(',').map((item) => item.trim());
  const named = items.filter((item) => item !== '');
  const wrong = named.find((item) => !names.includes(item) && !isAddressOrRange(item));
  if (wrong !== undefined) {
    throw new ConfigError(`${name} must be addresses or ranges such as 10.0.0.0/8, not '${wrong}'`);
  }
  return named;
}

/** Names that the server knows for ranges. */
const rangeNames = ['loopback', 'linklocal', 'uniquelocal'];

function isAddressOrRange(text: string): boolean {
  const [address = '', mask, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (mask === undefined) return true;
  if (version === 4 && isIPv4(mask)) return true;
  return /^\d+$/.test(mask) && Number(mask) > 0 && Number(mask) <= (version === 4 ? 32 : 128);
}

/** The url holds a password, and is not repeated in the message. */
function smtpUrl(env: Environment, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!/^smtps?:\/\//.test(text) || !URL.parse(text)?.hostname) {
    throw new ConfigError(`${name} must be a url such as smtp://user:password@host:587`);
  }
  return text;
}

/** `billing@example.com` or `City Water <billing@example.com>`. */
function sender(env: Environment, name: string, usual: string): MailSender {
  const text = env[name];
  if (!text) return { address: usual };
  const [, display, bracketed] = /^([^<>"\p{Cc}]+) <([^<>]+)>$/u.exec(text) ?? [];
  const address = bracketed ?? text;
  if (!isPlainAddress(address)) {
    const forms = 'billing@example.com or City Water <billing@example.com>';
    throw new ConfigError(`${name} must be an address such as ${forms}, not '${text}'`);
  }
  return display === undefined ? { address } : { address, name: display };
}

const selectorForm = new RegExp(`^${label}(?:\\.${label})*$`, 'i');

/** Receivers accept a signature of the sender's domain, or of one above it. */
function dkim(env: Environment, senderDomain: string): DkimOptions | undefined {
  const keyFile = env.DKIM_KEY_FILE;
  const selector = env.DKIM_SELECTOR;
  if (!keyFile && !selector && !env.DKIM_DOMAIN) return undefined;
  if (!keyFile || !selector) {
    throw new ConfigError('To sign mails, set both DKIM_KEY_FILE and DKIM_SELECTOR');
  }
  if (!selectorForm.test(selector)) {
    throw new ConfigError(`DKIM_SELECTOR must be a name such as billing2026, not '${selector}'`);
  }
  const own = domainName(env, 'DKIM_DOMAIN', senderDomain);
  if (!`.${senderDomain.toLowerCase()}`.endsWith(`.${own}`)) {
    throw new ConfigError(
      `DKIM_DOMAIN is ${own}, but MAIL_FROM is an address at ${senderDomain}. ` +
        `Receivers would not accept the signature: use ${senderDomain} or a domain above it`,
    );
  }
  return { keyFile: resolve(keyFile), domain: own, selector };
}

const rateForm = /^\d+(?:\.\d+)?\/\d+(?:\.\d+)?$/;

/** `100/200`: calls a second, and how many at once. */
function rate(env: Environment, name: string, usual: Rate): Rate {
  const text = env[name];
  if (!text) return usual;
  const [perSecond, burst] = rateForm.test(text) ? text.split('/').map(Number) : [];
  if (!perSecond || !burst || burst < 1) {
    throw new ConfigError(`${name} must be CALLS-PER-SECOND/BURST such as 100/200, not '${text}'`);
  }
  return { perSecond, burst };
}
