// A document other than a bill as one HTML page, in the style of the page of a bill.
import { endOf, headOf, headRow, htmlPage, partiesOf, rowOf } from './bill-html.ts';
import { escaped, tag } from './html.ts';
import type { Paper } from './paper.ts';
import type { PaperTable } from './paper-view.ts';
import { viewOf } from './papers.ts';

export function renderPaperHtml(paper: Paper): string {
  const { view } = viewOf(paper);
  const { page, tables, before } = view;
  const text = before.split('\n').map(escaped).join('<br>');
  return htmlPage(page, [
    headOf(page),
    partiesOf(page),
    before === '' ? '' : `<p>${text}</p>`,
    ...tables.map(tableOf),
    endOf(page),
  ]).html;
}

function tableOf({ heading, columns, rows }: PaperTable): string {
  return tag('section', {}, [
    heading === '' ? '' : tag('h3', {}, [escaped(heading)]),
    tag('table', { class: 'paper' }, [
      headRow(columns.map((column) => column.heading)),
      ...rows.map((cells) => rowOf(cells)),
    ]),
  ]);
}
