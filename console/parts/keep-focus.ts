// The focus of the keyboard is never lost. If the focused element is removed, hidden or disabled, the
// region around it gets the focus; a button that is enabled again gets it back.

const regions = '[role=dialog], [role=tabpanel], [role=region], form, section, main';

export function keepFocus(): void {
  /** What had the focus last, then the elements around it. */
  let trail: Element[] = [];
  let region: HTMLElement | null = null;
  const check = () => {
    const [last] = trail;
    if (!(last instanceof HTMLElement)) return;
    const active = document.activeElement;
    const isUsable = canHaveFocus(last);
    if (region !== null && active === region && last !== region && isUsable) {
      region = null;
      last.focus({ preventScroll: true });
    } else if (isLost(active) && !isUsable) {
      region = regionAround(trail);
      region?.focus({ preventScroll: true });
    }
  };
  document.addEventListener('focusin', ({ target }) => {
    if (target !== region) trail = trailOf(target as Element);
  });
  new MutationObserver(check).observe(document.body, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['disabled', 'hidden', 'style'],
  });
}

function isLost(active: Element | null): boolean {
  return active === null || active === document.body || !canHaveFocus(active);
}

function canHaveFocus(element: Element): boolean {
  return element.isConnected && !element.matches(':disabled') && element.checkVisibility();
}

function trailOf(element: Element): Element[] {
  const around = element.parentElement;
  return around === null ? [element] : [element, ...trailOf(around)];
}

/** The nearest one that is still there; that of the page where none is. */
function regionAround(trail: readonly Element[]): HTMLElement | null {
  const near = trail.slice(1).find((one) => one.matches(regions) && canHaveFocus(one));
  const found = (near ?? document.querySelector('main')) as HTMLElement | null;
  if (found !== null && !found.hasAttribute('tabindex')) found.tabIndex = -1;
  return found;
}
