import { writeFile } from 'node:fs/promises';
import { operations } from '../operations/catalogue.ts';

/** The text of sdk/routes.ts: what the client must know of each operation when it runs. */
export function sdkRoutes(): string {
  const rows = operations.map(([name, { path, method, action }]) => {
    const fields = [`path: '${path}'`, `method: '${method}'`, `action: '${action}'`];
    const line = `  ${name}: { ${fields.join(', ')} },`;
    return line.length <= 100 ? line : `  ${name}: {\n    ${fields.join(',\n    ')},\n  },`;
  });
  return `// Written by \`npm run billwright -- sdk\` from the catalogue of operations.
export const routes = {
${rows.join('\n')}
} as const;
`;
}

export async function writeSdk(): Promise<void> {
  await writeFile(new URL('../../sdk/routes.ts', import.meta.url), sdkRoutes());
}
