import { writeFile } from 'node:fs/promises';
import { errorCodes } from '../base/errors.ts';

/** The text of docs/errors.md: the table of codes as readers of the API want it. */
export function errorsPage(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { statusCode, type, summary }]) =>
      `| \`${code}\` | ${statusCode} | ${type} | ${summary} |`,
  );
  return `# Error codes

Written by \`npm run billwright -- errors-page\` from the one table in \`src/base/errors.ts\`.

The HTTP status of a call is always 200; \`statusCode\` is in the envelope and in the header
\`X-Status-Code\`. When several codes apply to one call, the one that stands first here is told.
Codes about things that no operation handles yet are listed too: their names are settled.

| Code | \`statusCode\` | \`type\` | Meaning |
|---|---|---|---|
${rows.join('\n')}
`;
}

export async function writeErrorsPage(): Promise<void> {
  await writeFile(new URL('../../docs/errors.md', import.meta.url), errorsPage());
}
