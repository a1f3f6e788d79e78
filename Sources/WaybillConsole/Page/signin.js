// The server answers a wrong token with this page again. Only the address shows that a token was sent.
const isTried = location.pathname.endsWith("/session") || location.search.includes("token=");
document.getElementById("wrong").hidden = !isTried;
