/** Selects VitePress's default theme without web fonts. */
export { default } from 'vitepress/theme-without-fonts';
