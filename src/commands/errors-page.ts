import { writeFile } from 'node:fs/promises';
import { errorCodes } from '../base/errors.ts';
import { billErrorCodes } from '../domain/rating/rating-error.ts';

/** The text of docs/errors.md: the tables of codes as readers of the API want them. */
export function errorsPage(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { statusCode, type, summary }]) =>
      `| \`${code}\` | ${statusCode} | ${type} | ${summary} |`,
  );
  const billRows = Object.entries(billErrorCodes).map(
    ([code, summary]) => `| \`${code}\` | ${summary} |`,
  );
  return `# Error codes

For developers who call the API. After reading you can tell what each error code means.

\`npm run billwright -- errors-page\` writes this page from the tables in
\`src/base/errors.ts\` and \`src/domain/rating/rating-error.ts\`.

The HTTP status of a call is always 200; \`statusCode\` is in the envelope and in the header
\`X-Status-Code\`. If several codes apply to one call, it returns the one that comes first in this
table.

| Code | \`statusCode\` | \`type\` | Meaning |
|---|---|---|---|
${rows.join('\n')}

## On bills

A bill that cannot be calculated has the status Error and these codes in its \`errors\`, and in the
\`exceptions\` of get-bill-term. The call that generated it succeeds. If the document of a posted
bill cannot be created, its \`errors\` have a code of the table above.

| Code | Meaning |
|---|---|
${billRows.join('\n')}
`;
}

export async function writeErrorsPage(): Promise<void> {
  await writeFile(new URL('../../docs/errors.md', import.meta.url), errorsPage());
}
