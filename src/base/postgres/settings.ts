import { totalmem } from 'node:os';

const megabyte = 1024 * 1024;

export type SettingsInput = {
  folders: { cluster: string; socket: string; log: string; hbaFile: string };
  walCompression: 'lz4' | 'off';
  extra: Record<string, string>;
};

// The whole configuration is written anew before every start, so that a new version of the program
// can change it. An operator's own values go into custom.conf beside it, which is never written.
export function settingsFile(input: SettingsInput): string {
  const lines = [
    '# Written by the program before every start: edit custom.conf instead.',
    ...lineList({ ...fixedSettings(input), ...memorySettings(memoryBytes()) }),
    "include_if_exists = 'custom.conf'",
    ...lineList(input.extra),
  ];
  return `${lines.join('\n')}\n`;
}

function fixedSettings({ folders, walCompression }: SettingsInput): Record<string, string> {
  return {
    data_directory: folders.cluster,
    hba_file: folders.hbaFile,
    listen_addresses: '',
    // A list in which a comma separates; double quotes keep a path that has one together.
    unix_socket_directories: `"${folders.socket.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    max_connections: '100',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    max_wal_size: '4GB',
    wal_compression: walCompression,
    // Bill runs are many short set-based statements: compiling them costs more than it saves.
    jit: 'off',
    random_page_cost: '1.1',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The messages of a failed start are read by server.ts.
    lc_messages: 'C',
    logging_collector: 'on',
    log_directory: folders.log,
    log_filename: 'postgresql-%Y%m%d-%H%M%S.log',
    log_file_mode: '0600',
    log_rotation_age: '1d',
    log_rotation_size: '10MB',
    log_line_prefix: '%m [%p] %u@%d ',
  };
}

export function memorySettings(bytes: number): Record<string, string> {
  return {
    shared_buffers: megabytes(bytes / 8, { min: 64, max: 2048 }),
    effective_cache_size: megabytes(bytes / 2, { min: 128, max: 1024 * 1024 }),
    // Each of up to 100 connections may take it several times over.
    work_mem: megabytes(bytes / 1024, { min: 4, max: 64 }),
    maintenance_work_mem: megabytes(bytes / 32, { min: 64, max: 1024 }),
  };
}

// A container's limit counts, not the memory of the machine it happens to run on.
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function megabytes(bytes: number, range: { min: number; max: number }): string {
  const wanted = Math.floor(bytes / megabyte);
  return `${Math.min(range.max, Math.max(range.min, wanted))}MB`;
}

function lineList(settings: Record<string, string>): string[] {
  return Object.entries(settings).map(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) throw new Error(`not a PostgreSQL setting: ${name}`);
    const quoted = value.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\n', ' ');
    return `${name} = '${quoted}'`;
  });
}
