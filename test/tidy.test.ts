// Rules of the source that a reviewer should not have to remember.
import assert from 'node:assert/strict';
import { dirname, posix } from 'node:path';
import { test } from 'node:test';
import { filesIn, functionsOf, readSources, type Source, sourceOf } from './support/source.ts';

const src = readSources('src');
const sdk = readSources('sdk');
const everything = [...src, ...sdk, ...readSources('test')];

function none(faults: string[], rule: string): void {
  assert.deepEqual(faults, [], `${rule}:\n  ${faults.join('\n  ')}\n`);
}

// Layers. A file may import its own layer and those before it; http and worker do not know each
// other.

const layers = ['base', 'domain', 'jobs', 'billrun', 'operations', 'http', 'top'] as const;
const domainOrder = [
  'tenants',
  'access',
  'audit',
  'events',
  'parties',
  'billing-groups',
  'rating',
  'pricing',
  'ledger',
  'readings',
  'meters',
  'subscriptions',
  'terms',
  'bills',
  'documents',
  'receivables',
  'bank-files',
  'delivery',
  'collections',
  'imports',
  'exports',
  'monitoring',
];

function layerOf(path: string): { folder: string; rank: number } {
  const [, first = '', ...rest] = path.split('/');
  const folder = rest.length === 0 || first === 'commands' ? 'top' : first;
  const rank = (layers as readonly string[]).indexOf(folder === 'worker' ? 'http' : folder);
  return { folder, rank };
}

function layerFaults(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, imports }) => {
    const from = layerOf(path);
    if (from.rank === -1) return [`${path} is in no known layer`];
    return imports.flatMap((target) => {
      const to = layerOf(target);
      // A command may ask the server as any client does.
      if (from.folder === 'top' && target === 'sdk/client.ts') return [];
      if (!target.startsWith('src/')) return [`${path} imports ${target}, outside src`];
      if (to.rank > from.rank) return [`${path} (${from.folder}) imports ${target} (${to.folder})`];
      if (to.rank === from.rank && to.folder !== from.folder) {
        return [`${path} (${from.folder}) imports ${target} (${to.folder}), its neighbour`];
      }
      return [];
    });
  });
}

test('every file of src imports only its own layer and those below it', () => {
  none(layerFaults(src), 'base < domain < jobs < billrun < operations < http, worker < the rest');
  const bad = sourceOf('src/domain/parties/x.ts', "import { a } from '../../http/server.ts';\n");
  assert.equal(layerFaults([bad]).length, 1);
  const neighbour = sourceOf('src/worker/x.ts', "import { a } from '../http/server.ts';\n");
  assert.equal(layerFaults([neighbour]).length, 1);
});

function domainFaults(sources: readonly Source[]): string[] {
  const nounOf = (path: string) => /^src\/domain\/([^/]+)\//.exec(path)?.[1];
  return sources.flatMap(({ path, imports }) => {
    const from = nounOf(path);
    if (from === undefined) return path.startsWith('src/domain/') ? [`${path} is in no noun`] : [];
    if (!domainOrder.includes(from)) return [`${path}: ${from} has no place in the order`];
    return imports.flatMap((target) => {
      const to = nounOf(target);
      if (to === undefined || domainOrder.indexOf(to) <= domainOrder.indexOf(from)) return [];
      return [`${path} imports ${target}, which comes after ${from}`];
    });
  });
}

test('each noun of the domain imports only nouns that come before it', () => {
  none(domainFaults(src), domainOrder.join(' < '));
  const bad = sourceOf('src/domain/tenants/x.ts', "import type { A } from '../access/roles.ts';\n");
  assert.equal(domainFaults([bad]).length, 1);
});

// A clone has nothing beside it, so a path that leaves it finds nothing.

/** Files with paths that seem to leave the clone, with the reason. */
const leadsOut: Record<string, string> = {
  'test/tidy.test.ts': 'has the examples of this rule',
  'test/sdk-types.ts': 'writes programs into a folder below its own',
};

function outsideFaults({ path, strings, templates, lines }: Source): string[] {
  if (leadsOut[path]) return [];
  return [...strings, ...templates].flatMap(({ text, line }) => {
    const leaves = /^\.\.(\/|$)/.test(text) && posix.join(dirname(path), text).startsWith('..');
    // Relative to the file in a URL; in a join, relative to a folder that is not known here.
    const isJoined = text === '..' && !lines[line - 1]?.includes('new URL(');
    return leaves || isJoined ? [`${path}:${line} ${text}`] : [];
  });
}

test('no file reads outside the clone', () => {
  const all = [...everything, ...readSources('bench'), ...readSources('scripts')];
  none(all.flatMap(outsideFaults), 'bring what it reads into the repository');
  const bad = [
    "readFileSync(new URL('../../../other/cases.json', import.meta.url));\n",
    "readFileSync(join(root, '..', 'other'));\n",
    'readFileSync(`../../../other/cases.json`);\n',
  ];
  for (const text of bad) {
    assert.equal(outsideFaults(sourceOf('test/rating/x.ts', text)).length, 1, text);
  }
  const fine = "readFileSync(new URL('../../migrations/schema.sql', import.meta.url));\n";
  assert.deepEqual(outsideFaults(sourceOf('test/rating/x.ts', fine)), []);
});

function findCycle(sources: readonly Source[]): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  function visit(path: string, trail: string[]): string[] | undefined {
    const at = trail.indexOf(path);
    if (at !== -1) return [...trail.slice(at), path];
    if (done.has(path)) return undefined;
    for (const target of byPath.get(path)?.imports ?? []) {
      const cycle = visit(target, [...trail, path]);
      if (cycle) return cycle;
    }
    done.add(path);
    return undefined;
  }
  for (const { path } of sources) {
    const cycle = visit(path, []);
    if (cycle) return cycle;
  }
  return [];
}

test('no import cycle, not even of types', () => {
  none(findCycle(everything), 'each file of the cycle imports the next');
  none(findCycle(readSources('console', /\.tsx?$/)), 'each file of the cycle imports the next');
  const a = sourceOf('src/base/a.ts', "import { b } from './b.ts';\n");
  const b = sourceOf('src/base/b.ts', "import type { A } from './a.ts';\n");
  assert.deepEqual(findCycle([a, b]), ['src/base/a.ts', 'src/base/b.ts', 'src/base/a.ts']);
});

test('pure code reaches no database, clock, log or configuration', () => {
  const impure = /^src\/(base\/(db|jobs|postgres)\/|base\/(clock|log)\.ts|config\.ts|context\.ts)/;
  const faults = src
    .filter(({ path }) => /^src\/(domain\/rating|base\/formula)\//.test(path))
    .flatMap(({ path, imports, packages }) => [
      ...imports.filter((target) => impure.test(target)).map((target) => `${path}: ${target}`),
      ...packages.filter((name) => /^pg/.test(name)).map((n) => `${path}: ${n}`),
    ]);
  none(faults, 'hand in the values instead');
});

test('no barrels and no drawers', () => {
  const names = ['src', 'sdk', 'test', 'bench'].flatMap(filesIn);
  const drawers = /(^|\/)(index\.ts|(utils?|helpers?|common|lib|misc|shared)(\.ts|\/.*))$/;
  none(
    names.filter((path) => drawers.test(path)),
    'name the file after what it is about',
  );
});

/** Exports that are found by other ways than an import, with the reason. */
const foundOtherwise: Record<string, string> = {
  'test/support/group.ts runFiles': 'files that test/run.ts writes call it',
  'test/support/setup.ts globalSetup': 'the test runner calls it',
  'test/support/setup.ts globalTeardown': 'the test runner calls it',
};

function exportFaults(sources: readonly Source[]): string[] {
  const taken = new Set(sources.flatMap((source) => source.taken));
  return sources.flatMap(({ path, code }) => {
    if (taken.has(`${path} *`)) return [];
    // Types are left out: those of what a function takes and gives are good to have by name.
    const values = code.matchAll(/^export (?:async )?(?:function\*?|const|let|class) (\w+)/gm);
    return [...values]
      .map(([, name]) => `${path} ${name}`)
      .filter((key) => !taken.has(key) && !foundOtherwise[key]);
  });
}

test('what is exported is imported somewhere', () => {
  none(exportFaults([...everything, ...readSources('bench')]), 'remove it, or do not export it');
  const a = sourceOf('src/base/a.ts', 'export const b = 1;\nexport async function c() {}\n');
  const d = sourceOf('src/base/d.ts', "import { type B, b as e } from './a.ts';\n");
  assert.deepEqual(exportFaults([a, d]), ['src/base/a.ts c']);
});

// Banned words. Each names what to use instead.

type Ban = {
  word: RegExp;
  instead: string;
  within: RegExp;
  /** Files that are the word's home, with the reason. */
  except?: Record<string, string>;
};

const core = /^src\/(domain|billrun|base)\//;
const bans: Ban[] = [
  { word: /\bparseFloat\b/, within: core, instead: 'exact numbers (base/decimal)' },
  { word: /\bMath\.round\b/, within: core, instead: 'the named rounding of base/decimal' },
  {
    word: /\bnew Date\b/,
    within: core,
    instead: 'Temporal, through base/calendar',
    except: {
      'src/base/mail/message.ts': 'nodemailer takes the date of a mail as a Date',
      'src/base/outside/signature.ts': 'standardwebhooks takes the time of a message as a Date',
    },
  },
  {
    word: /\bDate\.now\b/,
    within: core,
    instead: 'the clock that is handed in',
    except: {
      'src/base/postgres/server.ts': 'waits for a process of the machine, by its clock',
      'src/base/postgres/server-log.ts': 'compares with the age of files',
      'src/base/postgres/claim.ts': 'waits for a process of the machine, by its clock',
      'src/base/request-id.ts': 'ids sort by the time of the machine; they are no business date',
    },
  },
  {
    word: /\bTemporal\.Now\b/,
    within: /^src\//,
    instead: 'the clock that is handed in',
    except: {
      'src/base/clock.ts': 'the one clock',
    },
  },
  {
    word: /\bprocess\.env\b/,
    within: /^src\//,
    instead: 'a field of Config',
    except: {
      'src/config.ts': 'the only reader of the environment',
      'src/command-line.ts': 'hands the environment to config.ts',
      'src/main.ts': 'tells processes and threads where compiled code is kept',
    },
  },
  {
    word: /\bpool\.(query|connect)\b/,
    within: /^(src|test)\//,
    instead: 'transact()',
    except: {
      'src/base/db/pool.ts': 'the one way to run a transaction',
      'src/base/db/reads.ts': 'what transact() uses for those that change nothing',
    },
  },
  { word: /\bconsole\./, within: core, instead: 'the log of the context' },
  { word: /\bas any\b/, within: /^/, instead: 'a type, or unknown' },
  {
    word: /(?:: ?|<|=> )any\b(?![(:?.])|\bany(?:>|\[\])/,
    within: /^(src|sdk)\//,
    instead: 'a type, or unknown',
  },
  { word: /\beval\s*\(|\bnew Function\b/, within: /^src\//, instead: 'code that is written down' },
  { word: /@ts-ignore|@ts-nocheck/, within: /^/, instead: 'a type that holds' },
];

function banFaults(source: Source): string[] {
  const lines = source.code.split('\n');
  return bans.flatMap((ban) => {
    if (!ban.within.test(source.path) || ban.except?.[source.path]) return [];
    return lines.flatMap((line, index) =>
      ban.word.test(line)
        ? [`${source.path}:${index + 1} ${ban.word.source}: use ${ban.instead}`]
        : [],
    );
  });
}

test('banned words do not occur; each has its replacement', () => {
  none(everything.flatMap(banFaults), 'banned');
  const bad =
    "const a = Math.round(1); // any\nconst b: any = new Date();\nprocess.env.X = 'any';\n";
  const found = banFaults(sourceOf('src/domain/parties/x.ts', bad)).length;
  assert.equal(found, 4, 'Math.round, new Date, any, process.env');
});

// SQL.

const isStore = (path: string) =>
  /\/(store|[\w-]+-store)\.ts$/.test(path) || path.startsWith('src/base/db/');

test('SQL is written in stores only', () => {
  const faults = src.flatMap(({ path, templates, packages, code }) => {
    if (isStore(path)) return [];
    const hasSql =
      templates.some(({ tag }) => tag === 'sql') || /\bsql\.(raw|ref|join)\b/.test(code);
    const usesDriver = /\.query\s*\(/.test(code) && packages.includes('pg');
    const isHome = path.startsWith('src/base/postgres/');
    return hasSql || (usesDriver && !isHome) ? [path] : [];
  });
  none(faults, 'move the statement to a file named store.ts or *-store.ts');
});

/** Statements that name no tenant, by their function, with the reason. */
const tenantless: Record<string, string> = {
  wakeDailyJobs: 'it reads no table',
  wakeWorkers: 'workers look in all workspaces',
  beQuick: 'settings of the transaction',
  findTenantId: 'asks the registry, by a function that tells the id alone',
  insertWorkspace: 'locks the registry, which is of no tenant',
  enterTenant: 'sets the tenant of the transaction',
  noteWorker: 'workers are of no tenant',
  deleteWorker: 'workers are of no tenant',
  watchOperations: 'asks for sums over all tenants, which functions of the database make',
  claimKey: 'the name of the lock begins with the tenant',
  markBeforeWork: 'a savepoint reads nothing',
  idsByBlock: 'the conditions that it is given name the tenant',
  idsFound: 'the search functions take the tenant of the transaction',
  undoWork: 'a savepoint reads nothing',
  copyBills: 'gives back the role that it copied with',
  takeCopyingRole: 'takes on a role',
  endLostAttempts: 'the function takes the tenant of the transaction',
  markBeforeImport: 'a savepoint reads nothing',
  undoImport: 'a savepoint reads nothing',
  deleteEndedRows: 'the function takes the tenant of the transaction',
  named: 'the look-ups that it joins name the tenant',
};

const verbs =
  /^\s*(select|insert|update|delete|with|merge|lock|truncate|copy|savepoint|rollback)\b/i;

function tenantFaults(source: Source, used = new Set<string>()): string[] {
  const functions = functionsOf(source);
  const nameAt = (line: number) => functions.findLast((one) => one.line <= line)?.name ?? '';
  /** Helpers of the file that put the tenant's condition into a statement. */
  const helpers = source.templates
    .filter(({ tag, text }) => tag === 'sql' && /^\s*\w*\.?tenant_id = \$\{tenantId\}/.test(text))
    .map(({ line }) => nameAt(line));
  return source.templates.flatMap(({ tag, text, line }) => {
    if (tag !== 'sql' || !verbs.test(text)) return [];
    const isHelped = helpers.some((helper) => text.includes(`\${${helper}(tenantId`));
    if (/\btenant_id\b/.test(text.replace(/ as tenant_id\b/g, '')) || isHelped) return [];
    const name = nameAt(line);
    used.add(name);
    return tenantless[name] ? [] : [`${source.path}:${line} in ${name}`];
  });
}

test('every statement of a store names tenant_id', () => {
  const used = new Set<string>();
  const stores = src.filter(({ path }) => isStore(path));
  none(
    stores.flatMap((store) => tenantFaults(store, used)),
    'filter by tenant_id',
  );
  none(
    Object.keys(tenantless).filter((name) => !used.has(name)),
    'no longer tenantless',
  );
  const bad = 'async function findAll(tx) {\n  await sql`select 1 from parties`.execute(tx);\n}\n';
  assert.equal(tenantFaults(sourceOf('src/domain/parties/store.ts', bad)).length, 1);
});

function settingFaults({ path, templates, strings }: Source): string[] {
  // Of the embedded server's own connections, which serve no tenant.
  if (path.startsWith('src/base/postgres/')) return [];
  return [...templates, ...strings].flatMap(({ text, line }) => {
    const plain = text.replace(/\$\{[^}]*\}/g, '?');
    const isSet = /(?:^|;)\s*set\s+(?!local\s)(?:session\s+)?[\w.]+\s*(?:=|\bto\b)/i.test(plain);
    const calls = [...plain.matchAll(/set_config\(([^)]*)\)/gi)];
    const outlives = calls.some((call) => !/,\s*true\s*$/.test(call[1] ?? ''));
    return isSet || outlives ? [`${path}:${line} ${text.trim().slice(0, 60)}`] : [];
  });
}

test('nothing outlives its transaction: only SET LOCAL, and set_config with true', () => {
  none(
    src.flatMap(settingFaults),
    'use set local, or set_config(name, value, true), inside the transaction',
  );
  const bad = "a('begin; set app.tenant = 1');\nb(`select set_config('role', 'x', false)`);\n";
  assert.equal(settingFaults(sourceOf('src/base/db/x.ts', bad)).length, 2);
});
