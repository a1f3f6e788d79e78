/// The HTML page into which the routes are inserted, with the style sheet and a script for the search field
/// and the buttons.
enum SitePage {
    static let html = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy"
            content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>{{title}}</title>
        <style>
        :root {
            color-scheme: light dark;
            --ground: #fbfbfa; --card: #fff; --text: #1d2125; --soft: #59626b; --line: #dfe2e5; --code: #f1f3f4;
            --accent: #0b5fae;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --ground: #14171a; --card: #1c2024; --text: #e4e7ea; --soft: #a2abb4; --line: #333a41; --code: #262b30;
                --accent: #7ab8f5;
            }
        }
        * { box-sizing: border-box; }
        html { scroll-padding-top: 5rem; }
        body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
        code, pre { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
        a { color: var(--accent); }
        header {
            position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center;
            padding: .7rem 1.2rem; background: var(--card); border-bottom: 1px solid var(--line);
        }
        header h1 { margin: 0; font-size: 1.1rem; }
        header p { margin: 0; color: var(--soft); }
        header input {
            flex: 1 1 14rem; max-width: 26rem; margin-left: auto; padding: .45rem .7rem; font: inherit;
            color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 6px;
        }
        .page { display: grid; grid-template-columns: 13rem minmax(0, 1fr); max-width: 72rem; margin: 0 auto; }
        nav { position: sticky; top: 3.8rem; align-self: start; padding: 1.4rem 1.2rem; }
        nav ul { margin: 0; padding: 0; list-style: none; }
        nav li { display: flex; justify-content: space-between; padding: .15rem 0; }
        nav span { color: var(--soft); }
        main { padding: .4rem 1.2rem 3rem; }
        h2 { margin: 1.4rem 0 .6rem; font-size: 1.15rem; }
        article { margin: 0 0 .9rem; padding: .9rem 1.1rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
        article h3 { margin: 0; font-size: 1rem; }
        article h3 code { font-size: 14px; font-weight: 600; }
        article p { margin: .4rem 0; white-space: pre-line; }
        .tag { padding: .05rem .45rem; font-size: 12px; font-weight: 400; color: var(--soft); border: 1px solid var(--line); border-radius: 99px; }
        .wide { overflow-x: auto; }
        table { width: 100%; margin: .5rem 0; border-collapse: collapse; }
        th, td { padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
        th { font-size: 13px; font-weight: 500; color: var(--soft); }
        .reply { color: var(--soft); }
        .example { position: relative; margin-top: .5rem; }
        .example pre { margin: 0; padding: .55rem 4.6rem .55rem .7rem; white-space: pre-wrap; background: var(--code); border-radius: 6px; }
        .example button {
            position: absolute; top: .35rem; right: .35rem; padding: .15rem .6rem; font: 13px system-ui, sans-serif;
            color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: 5px; cursor: pointer;
        }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
        [hidden] { display: none; }
        #none { padding: 2rem 0; color: var(--soft); }
        @media (max-width: 760px) {
            .page { display: block; }
            nav { position: static; padding: .8rem 1.2rem 0; }
            nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
            nav li { gap: .3rem; }
            header input { max-width: none; }
            html { scroll-padding-top: 7rem; }
        }
        </style>
        </head>
        <body>
        <header>
        <h1>{{title}}</h1>
        <p>{{version}} · <span id="count">{{count}}</span> routes</p>
        <input id="search" type="search" placeholder="Search ( / )" aria-label="Search the routes" autocomplete="off">
        </header>
        <div class="page">
        <nav aria-label="Modules">
        <ul>
        {{links}}</ul>
        </nav>
        <main>
        {{sections}}<p id="none" hidden>No route matches.</p>
        </main>
        </div>
        <script>
        const search = document.getElementById("search");
        const sections = [...document.querySelectorAll("section")];
        function filter() {
            const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
            let routes = 0, shown = 0;
            for (const section of sections) {
                let any = false;
                for (const article of section.querySelectorAll("article")) {
                    const matches = words.every((word) => article.dataset.text.includes(word));
                    article.hidden = !matches;
                    any ||= matches;
                    if (matches) { shown += 1; if (section.id !== "types") routes += 1; }
                }
                section.hidden = !any;
            }
            document.getElementById("count").textContent = routes;
            document.getElementById("none").hidden = shown > 0;
        }
        search.addEventListener("input", filter);
        document.addEventListener("keydown", (event) => {
            if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
            if (event.key === "Escape" && document.activeElement === search) { search.value = ""; filter(); }
        });
        document.addEventListener("click", async (event) => {
            const button = event.target.closest(".example button");
            if (!button) {
                const link = event.target.closest("a[href^='#']");
                if (link && search.value) { search.value = ""; filter(); }
                return;
            }
            const text = button.previousElementSibling.textContent;
            try {
                await navigator.clipboard.writeText(text);
            } catch {
                // A page that was opened as a file has no clipboard in some browsers.
                const range = document.createRange();
                range.selectNodeContents(button.previousElementSibling);
                getSelection().removeAllRanges();
                getSelection().addRange(range);
                document.execCommand("copy");
            }
            button.textContent = "Copied";
            setTimeout(() => { button.textContent = "Copy"; }, 1200);
        });
        </script>
        </body>
        </html>

        """#
}
